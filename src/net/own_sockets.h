// Own sockets: descriptors that a forked child of this process finds closed. A child that kept the sockets of its
// parent (a worker that loads data, say) would hide its parent's death from the other ranks until their deadlines. Here
// is the one state that a process has as a whole: pthread_atfork() is the only way to act between fork() and the
// child's first step; it passes nothing to what it calls, and never forgets it. So there is one table, a bit per
// descriptor, and one registration, at the first socket.
// Ownership: of no descriptor. Threading: any thread; a fork waits for who changes the table. The child only closes.
// Refuses: numbers beyond the table, which children keep, as do children that are not made by fork() (clone(),
// vfork()).
#pragma once

namespace hocket {

/// False when it is not taken.
bool add_own_socket(int descriptor);
/// Before it is closed, or handed to a child.
void remove_own_socket(int descriptor);

}  // namespace hocket
