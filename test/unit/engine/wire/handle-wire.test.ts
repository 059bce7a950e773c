import { HandleWire } from '../../../../src/engine/wire/handle-wire.js';
import { wireContract } from '../../../support/wire-contract.js';

wireContract('handle', (report) => new HandleWire(report));
