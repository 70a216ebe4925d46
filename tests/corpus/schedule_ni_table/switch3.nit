{
"hocket_ni_tables": 1,
"algorithm": "multitree",
"collective": "reduce_scatter",
"ranks": 3,
"division": {"blocks":3,"pieces_per_block":1,"uniform":false},
"topology": "c746b4117e1a5d08b1b7b300e20ab089",
"steps": 2,
"unit": "byte",
"elements": 300,
"dtype": "f32",
"flows": [
{"root":0,"piece":0,"pieces":1},
{"root":1,"piece":1,"pieces":1},
{"root":2,"piece":2,"pieces":1}
],
"tables": [
{"rank": 0,
"entries": [
{"opcode":"reduce","flow":1,"parent":1,"children":[],"step":0,"start":400,"size":400,"via":[[0,3]]},
{"opcode":"reduce","flow":2,"parent":2,"children":[],"step":1,"start":800,"size":400,"via":[[0,5]]},
{"opcode":"reduce","flow":0,"parent":null,"children":[1,2],"step":2,"start":0,"size":400}
],
"aggregation": [
{"step":0,"flow":0,"children":[2]},
{"step":1,"flow":0,"children":[1]}
]},
{"rank": 1,
"entries": [
{"opcode":"reduce","flow":2,"parent":2,"children":[],"step":0,"start":800,"size":400,"via":[[2,5]]},
{"opcode":"reduce","flow":0,"parent":0,"children":[],"step":1,"start":0,"size":400,"via":[[2,1]]},
{"opcode":"reduce","flow":1,"parent":null,"children":[0,2],"step":2,"start":400,"size":400}
],
"aggregation": [
{"step":0,"flow":1,"children":[0]},
{"step":1,"flow":1,"children":[2]}
]},
{"rank": 2,
"entries": [
{"opcode":"reduce","flow":0,"parent":0,"children":[],"step":0,"start":0,"size":400,"via":[[4,1]]},
{"opcode":"reduce","flow":1,"parent":1,"children":[],"step":1,"start":400,"size":400,"via":[[4,3]]},
{"opcode":"reduce","flow":2,"parent":null,"children":[0,1],"step":2,"start":800,"size":400}
],
"aggregation": [
{"step":0,"flow":2,"children":[1]},
{"step":1,"flow":2,"children":[0]}
]}
]}
