#!/usr/bin/env node
import 'reflect-metadata';

import { reportBug, runProgram } from './cli/program.js';

// Invariant 10: the process never exits because of an input.
process.on('uncaughtException', reportBug);
process.on('unhandledRejection', reportBug);

process.exitCode = await runProgram(process.argv.slice(2));
