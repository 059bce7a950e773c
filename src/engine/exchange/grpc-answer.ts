import { FieldList } from './fields.js';
import { PlainResponseHead, type RequestHead } from './heads.js';

/** gRPC status for what the gateway would say in HTTP: 12 unimplemented, 14 unavailable, 4 deadline exceeded, … */
const GRPC_STATUS: ReadonlyMap<number, number> = new Map([
  [400, 13],
  [401, 16],
  [403, 7],
  [404, 12],
  [413, 8],
  [429, 14],
  [500, 14],
  [502, 14],
  [503, 14],
  [504, 4],
]);

export function isGrpc(head: RequestHead): boolean {
  return head.fields.get('content-type')?.startsWith('application/grpc') ?? false;
}

/** The gateway's own error in the form of gRPC: a head that is also the trailers (Trailers-Only), without a body. */
export function grpcAnswer(status: number, text: string): PlainResponseHead {
  const fields = new FieldList([
    'content-type',
    'application/grpc',
    'grpc-status',
    String(GRPC_STATUS.get(status) ?? 2),
    'grpc-message',
    text,
  ]);
  return new PlainResponseHead(200, fields);
}
