import { expect } from 'chai';

import type { GatewayStatus, ListenerSetStatus, StatusPlan } from '../../../src/graph/status-plan.js';
import type { ApplyResult, ListenerOutcome } from '../../../src/ir/proxy-engine.js';
import { overlayApplyResult, overlayRejection } from '../../../src/status/overlay-apply-result.js';
import { condition, gatewayStatus, listener, planned, routeStatus } from '../../support/status/plans.js';

const serving: ListenerOutcome = { state: 'serving' };
const failed = (code: string): ListenerOutcome => ({
  state: 'failed',
  code,
  message: `${code} on 192.0.2.1:80`,
});

function result(listeners: Readonly<Record<string, ListenerOutcome>>): ApplyResult {
  return { revision: 1, listeners: new Map(Object.entries(listeners)) };
}

function programmed({ conditions }: { readonly conditions: GatewayStatus['conditions'] }): string {
  const found = conditions.filter(({ type }) => type === 'Programmed');
  return found.map(({ status, reason }) => `${status}/${reason}`).join();
}

/** Of the only Gateway or ListenerSet of a plan: itself, then its listeners. */
function outcome(plan: StatusPlan): readonly string[] {
  const status = plan[0]?.status;
  if (status?.shape !== 'gateway' && status?.shape !== 'listenerset') throw new Error('no Gateway');
  return [programmed(status), ...status.listeners.map(programmed)];
}

const OK = 'True/Programmed';

describe('status/overlay-apply-result', () => {
  const two = planned(gatewayStatus(listener('http', 'a:80'), listener('https', 'a:443', 'b:443')));
  const route = planned(routeStatus(['edge', condition('Accepted')]));

  it('leaves everything the same object when all sockets serve', () => {
    const plan = [two, route];
    const overlaid = overlayApplyResult(
      plan,
      result({ 'a:80': serving, 'a:443': serving, 'b:443': serving }),
    );
    expect(overlaid[0]).to.equal(two);
    expect(overlaid[1]).to.equal(route);
  });

  const table: readonly {
    name: string;
    listeners: Record<string, ListenerOutcome>;
    want: readonly string[];
  }[] = [
    {
      name: 'a port in use',
      listeners: { 'a:80': failed('EADDRINUSE'), 'a:443': serving, 'b:443': serving },
      want: [OK, 'False/PortUnavailable', OK],
    },
    {
      name: 'a port that this process may not open',
      listeners: { 'a:80': failed('EACCES'), 'a:443': serving, 'b:443': serving },
      want: [OK, 'False/PortUnavailable', OK],
    },
    {
      name: 'an address that is not here, which the Gateway says too although another works',
      listeners: { 'a:80': serving, 'a:443': serving, 'b:443': failed('EADDRNOTAVAIL') },
      want: ['False/AddressNotUsable', OK, 'False/AddressNotUsable'],
    },
    {
      name: 'anything else',
      listeners: { 'a:80': failed('ENOBUFS'), 'a:443': serving, 'b:443': serving },
      want: [OK, 'False/Invalid', OK],
    },
    {
      name: 'a socket that the engine does not know of',
      listeners: { 'a:80': serving, 'a:443': serving },
      want: [OK, OK, 'False/Pending'],
    },
    {
      name: 'no socket at all',
      listeners: { 'a:80': failed('EADDRINUSE'), 'a:443': failed('EACCES') },
      want: ['False/Invalid', 'False/PortUnavailable', 'False/PortUnavailable'],
    },
  ];
  for (const { name, listeners, want } of table) {
    it(`says of ${name}`, () => {
      expect(outcome(overlayApplyResult([two], result(listeners)))).to.deep.equal(want);
    });
  }

  it('names the listener and the problem', () => {
    const [overlaid] = overlayApplyResult(
      [two],
      result({ 'a:80': failed('EADDRINUSE'), 'a:443': serving, 'b:443': serving }),
    );
    const status = overlaid?.status;
    const message = status?.shape === 'gateway' ? status.listeners[0]?.conditions.at(-1)?.message : '';
    expect(message).to.equal('Listener http cannot be opened: EADDRINUSE on 192.0.2.1:80');
  });

  it('does not overwrite what translation found wrong', () => {
    const lost = condition('Programmed', 'False');
    const bad = { ...listener('http', 'a:80'), conditions: [lost] };
    const plan = [planned({ ...gatewayStatus(bad), conditions: [lost] })];
    expect(outcome(overlayApplyResult(plan, result({ 'a:80': failed('EADDRINUSE') })))).to.deep.equal([
      'False/NotProgrammed',
      'False/NotProgrammed',
    ]);
    expect(outcome(overlayRejection(plan, 'no'))).to.deep.equal([
      'False/NotProgrammed',
      'False/NotProgrammed',
    ]);
  });

  it('does the same for a ListenerSet, and adds the condition when it is missing', () => {
    const set: ListenerSetStatus = {
      shape: 'listenerset',
      conditions: [condition('Accepted')],
      listeners: [listener('extra', 'a:90')],
    };
    const plan = [planned(set, 1, { kind: 'ListenerSet' })];
    expect(outcome(overlayApplyResult(plan, result({ 'a:90': failed('EACCES') })))).to.deep.equal([
      'False/Invalid',
      'False/PortUnavailable',
    ]);
  });

  it('invariant 3: says of a refused configuration that the one before is being served', () => {
    const plan = overlayRejection([two, route], 'upstream 7 has no address');
    expect(outcome(plan)).to.deep.equal(['False/Pending', 'False/Pending', 'False/Pending']);
    expect(plan[1]).to.equal(route);
    const status = plan[0]?.status;
    expect(status?.shape === 'gateway' && status.conditions.at(-1)?.message).to.include(
      'upstream 7 has no address',
    );
  });
});
