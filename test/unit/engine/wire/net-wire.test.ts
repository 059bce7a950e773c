import { NetWire } from '../../../../src/engine/wire/net-wire.js';
import { wireAddressContract } from '../../../support/wire-address-contract.js';
import { wireBatchContract } from '../../../support/wire-batch-contract.js';
import { wireContract } from '../../../support/wire-contract.js';
import { wireTlsClientContract } from '../../../support/wire-tls-client-contract.js';
import { wireTlsServerContract } from '../../../support/wire-tls-server-contract.js';

for (const contract of [
  wireContract,
  wireBatchContract,
  wireAddressContract,
  wireTlsServerContract,
  wireTlsClientContract,
]) {
  contract('net', (report) => new NetWire(report));
}
