import type { StatusPlan } from '../graph/status-plan.js';

/** Takes what statuses should say. It holds state: a plan replaces the one before, which may never be seen. */
export interface StatusSink {
  publish(plan: StatusPlan): void;
}

/** Several that all get every plan. */
export function combineStatusSinks(...sinks: readonly StatusSink[]): StatusSink {
  return {
    publish: (plan) => {
      for (const sink of sinks) sink.publish(plan);
    },
  };
}
