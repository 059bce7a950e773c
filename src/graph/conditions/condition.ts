import type { Condition } from '../../apis/meta.js';

/** The API server refuses a status whose message is longer (metav1.Condition, maxLength). */
const MAX_MESSAGE_LENGTH = 32_768;

/** Builds a condition; its message is cut to what the API server takes, because one long message would block the whole status. */
export function condition(
  type: string,
  status: Condition['status'],
  reason: string,
  message: string,
): Condition {
  return { type, status, reason, message: cutMessage(message) };
}

export function cutMessage(message: string): string {
  return message.length <= MAX_MESSAGE_LENGTH ? message : `${message.slice(0, MAX_MESSAGE_LENGTH - 1)}…`;
}
