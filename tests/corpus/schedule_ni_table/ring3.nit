{
"hocket_ni_tables": 1,
"algorithm": "multitree",
"collective": "all_reduce",
"ranks": 3,
"division": {"blocks":1,"pieces_per_block":3,"uniform":false},
"topology": "2d24bdaad9a1833ee43cf85264fabfa3",
"steps": 2,
"unit": "piece",
"flows": [
{"root":0,"piece":0,"pieces":1},
{"root":1,"piece":1,"pieces":1},
{"root":2,"piece":2,"pieces":1}
],
"tables": [
{"rank": 0,
"entries": [
{"opcode":"reduce","flow":1,"parent":1,"children":[],"step":0,"start":1,"size":1,"via":[[0]]},
{"opcode":"reduce","flow":2,"parent":2,"children":[],"step":0,"start":2,"size":1,"via":[[5]]},
{"opcode":"reduce","flow":0,"parent":null,"children":[1,2],"step":1,"start":0,"size":1},
{"opcode":"gather","flow":0,"parent":null,"children":[1,2],"step":1,"start":0,"size":1,"via":[[0],[5]]}
],
"aggregation": [
{"step":0,"flow":0,"children":[1,2]}
]},
{"rank": 1,
"entries": [
{"opcode":"reduce","flow":0,"parent":0,"children":[],"step":0,"start":0,"size":1,"via":[[1]]},
{"opcode":"reduce","flow":2,"parent":2,"children":[],"step":0,"start":2,"size":1,"via":[[2]]},
{"opcode":"reduce","flow":1,"parent":null,"children":[0,2],"step":1,"start":1,"size":1},
{"opcode":"gather","flow":1,"parent":null,"children":[0,2],"step":1,"start":1,"size":1,"via":[[1],[2]]}
],
"aggregation": [
{"step":0,"flow":1,"children":[0,2]}
]},
{"rank": 2,
"entries": [
{"opcode":"reduce","flow":0,"parent":0,"children":[],"step":0,"start":0,"size":1,"via":[[4]]},
{"opcode":"reduce","flow":1,"parent":1,"children":[],"step":0,"start":1,"size":1,"via":[[3]]},
{"opcode":"reduce","flow":2,"parent":null,"children":[0,1],"step":1,"start":2,"size":1},
{"opcode":"gather","flow":2,"parent":null,"children":[0,1],"step":1,"start":2,"size":1,"via":[[4],[3]]}
],
"aggregation": [
{"step":0,"flow":2,"children":[0,1]}
]}
]}
