/** A thread that trims its heap over and over until it has done so as often as it was told. */
import { workerData } from 'node:worker_threads';
import { trimHeap } from '../../src/util/heap-trimmer.js';

for (let i = 0; i < Number(workerData); i++) trimHeap();
