#include <hocket/version.h>

#include <iostream>

int main() { std::cout << "hocket " << hocket::version() << '\n'; }
