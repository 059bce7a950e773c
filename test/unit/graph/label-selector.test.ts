import { expect } from 'chai';

import { selects } from '../../../src/graph/label-selector.js';

const labels = { team: 'red', tier: 'app' };

describe('label selector', () => {
  const cases = [
    { name: 'nothing asked', selector: {}, selected: true },
    { name: 'equal labels', selector: { matchLabels: { team: 'red', tier: 'app' } }, selected: true },
    { name: 'one other label', selector: { matchLabels: { team: 'red', tier: 'db' } }, selected: false },
    { name: 'In', selector: expression('team', 'In', ['blue', 'red']), selected: true },
    { name: 'In without the label', selector: expression('x', 'In', ['red']), selected: false },
    { name: 'NotIn', selector: expression('team', 'NotIn', ['red']), selected: false },
    { name: 'NotIn without the label', selector: expression('x', 'NotIn', ['red']), selected: true },
    { name: 'Exists', selector: expression('team', 'Exists'), selected: true },
    { name: 'Exists without the label', selector: expression('x', 'Exists'), selected: false },
    { name: 'DoesNotExist', selector: expression('team', 'DoesNotExist'), selected: false },
    { name: 'an unknown operator', selector: expression('team', 'Near', ['red']), selected: false },
  ];
  for (const { name, selector, selected } of cases) {
    it(`${selected ? 'selects' : 'leaves out'} with ${name}`, () => {
      expect(selects(selector, labels)).to.equal(selected);
    });
  }
});

function expression(key: string, operator: string, values?: readonly string[]) {
  return { matchExpressions: [{ key, operator, ...(values && { values }) }] };
}
