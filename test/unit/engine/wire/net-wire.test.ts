import { NetWire } from '../../../../src/engine/wire/net-wire.js';
import { wireContract } from '../../../support/wire-contract.js';

wireContract('net', (report) => new NetWire(report));
