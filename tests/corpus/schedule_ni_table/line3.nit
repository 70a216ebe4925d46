{
"hocket_ni_tables": 1,
"algorithm": "multitree",
"collective": "broadcast",
"ranks": 3,
"root": 1,
"division": {"blocks":1,"pieces_per_block":128,"uniform":false},
"topology": "cc394485ede20440588a3dab4fd23b72",
"steps": 2,
"unit": "piece",
"flows": [
{"root":1,"piece":0,"pieces":64},
{"root":1,"piece":64,"pieces":64}
],
"tables": [
{"rank": 0,
"entries": [
{"opcode":"nop","step":0},
{"opcode":"nop","step":1}
],
"aggregation": []},
{"rank": 1,
"entries": [
{"opcode":"gather","flow":0,"parent":null,"children":[0],"step":0,"start":0,"size":64,"via":[[1]]},
{"opcode":"gather","flow":1,"parent":null,"children":[2],"step":0,"start":64,"size":64,"via":[[2]]},
{"opcode":"gather","flow":0,"parent":null,"children":[2],"step":1,"start":0,"size":64,"via":[[2]]},
{"opcode":"gather","flow":1,"parent":null,"children":[0],"step":1,"start":64,"size":64,"via":[[1]]}
],
"aggregation": []},
{"rank": 2,
"entries": [
{"opcode":"nop","step":0},
{"opcode":"nop","step":1}
],
"aggregation": []}
]}
