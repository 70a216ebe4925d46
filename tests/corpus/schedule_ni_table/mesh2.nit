{
"hocket_ni_tables": 1,
"algorithm": "multitree",
"collective": "all_reduce",
"ranks": 4,
"division": {"blocks":1,"pieces_per_block":4,"uniform":false},
"topology": "54463e75ef6a75d66dd8d3db243cb4ce",
"steps": 4,
"unit": "byte",
"elements": 256,
"dtype": "f32",
"flows": [
{"root":0,"piece":0,"pieces":1},
{"root":1,"piece":1,"pieces":1},
{"root":2,"piece":2,"pieces":1},
{"root":3,"piece":3,"pieces":1}
],
"tables": [
{"rank": 0,
"entries": [
{"opcode":"reduce","flow":3,"parent":2,"children":[],"step":0,"start":768,"size":256,"via":[[4]]},
{"opcode":"reduce","flow":1,"parent":1,"children":[2],"step":1,"start":256,"size":256,"via":[[0]]},
{"opcode":"reduce","flow":2,"parent":2,"children":[],"step":1,"start":512,"size":256,"via":[[4]]},
{"opcode":"reduce","flow":0,"parent":null,"children":[1,2],"step":2,"start":0,"size":256},
{"opcode":"gather","flow":0,"parent":null,"children":[1,2],"step":2,"start":0,"size":256,"via":[[0],[4]]},
{"opcode":"gather","flow":1,"parent":1,"children":[2],"step":3,"start":256,"size":256,"via":[[4]]}
],
"aggregation": [
{"step":0,"flow":1,"children":[2]},
{"step":1,"flow":0,"children":[1,2]}
]},
{"rank": 1,
"entries": [
{"opcode":"reduce","flow":2,"parent":3,"children":[],"step":0,"start":512,"size":256,"via":[[6]]},
{"opcode":"reduce","flow":0,"parent":0,"children":[3],"step":1,"start":0,"size":256,"via":[[1]]},
{"opcode":"reduce","flow":3,"parent":3,"children":[],"step":1,"start":768,"size":256,"via":[[6]]},
{"opcode":"reduce","flow":1,"parent":null,"children":[0,3],"step":2,"start":256,"size":256},
{"opcode":"gather","flow":1,"parent":null,"children":[0,3],"step":2,"start":256,"size":256,"via":[[1],[6]]},
{"opcode":"gather","flow":0,"parent":0,"children":[3],"step":3,"start":0,"size":256,"via":[[6]]}
],
"aggregation": [
{"step":0,"flow":0,"children":[3]},
{"step":1,"flow":1,"children":[0,3]}
]},
{"rank": 2,
"entries": [
{"opcode":"reduce","flow":1,"parent":0,"children":[],"step":0,"start":256,"size":256,"via":[[5]]},
{"opcode":"reduce","flow":0,"parent":0,"children":[],"step":1,"start":0,"size":256,"via":[[5]]},
{"opcode":"reduce","flow":3,"parent":3,"children":[0],"step":1,"start":768,"size":256,"via":[[2]]},
{"opcode":"reduce","flow":2,"parent":null,"children":[0,3],"step":2,"start":512,"size":256},
{"opcode":"gather","flow":2,"parent":null,"children":[0,3],"step":2,"start":512,"size":256,"via":[[5],[2]]},
{"opcode":"gather","flow":3,"parent":3,"children":[0],"step":3,"start":768,"size":256,"via":[[5]]}
],
"aggregation": [
{"step":0,"flow":3,"children":[0]},
{"step":1,"flow":2,"children":[0,3]}
]},
{"rank": 3,
"entries": [
{"opcode":"reduce","flow":0,"parent":1,"children":[],"step":0,"start":0,"size":256,"via":[[7]]},
{"opcode":"reduce","flow":1,"parent":1,"children":[],"step":1,"start":256,"size":256,"via":[[7]]},
{"opcode":"reduce","flow":2,"parent":2,"children":[1],"step":1,"start":512,"size":256,"via":[[3]]},
{"opcode":"reduce","flow":3,"parent":null,"children":[1,2],"step":2,"start":768,"size":256},
{"opcode":"gather","flow":3,"parent":null,"children":[1,2],"step":2,"start":768,"size":256,"via":[[7],[3]]},
{"opcode":"gather","flow":2,"parent":2,"children":[1],"step":3,"start":512,"size":256,"via":[[7]]}
],
"aggregation": [
{"step":0,"flow":2,"children":[1]},
{"step":1,"flow":3,"children":[1,2]}
]}
]}
