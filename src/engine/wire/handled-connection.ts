import { messageOf } from '../../util/errors.js';
import type { ConnectionHandler, FaultReport, WireError } from './wire.js';

/** How a connection calls its handler: what the handler throws is a bug, which is reported and ends the connection. */
export abstract class HandledConnection {
  handler: ConnectionHandler;
  readonly #report: FaultReport;

  protected constructor(handler: ConnectionHandler, report: FaultReport) {
    this.handler = handler;
    this.#report = report;
  }

  /** Ends the connection with the error; `onClose` follows. */
  abstract fail(error: WireError): void;

  received(buffer: Buffer, length: number): void {
    try {
      this.handler.onRead(buffer, length);
    } catch (error) {
      this.#fault(error);
    }
  }

  protected tell(event: 'onConnect' | 'onSecure' | 'onDrain' | 'onEnd'): void {
    try {
      this.handler[event]();
    } catch (error) {
      this.#fault(error);
    }
  }

  /** The last call. */
  protected tellClose(error: WireError | undefined): void {
    try {
      this.handler.onClose(error);
    } catch (fault) {
      this.#report({ code: HANDLER_FAULT, error: fault });
    }
  }

  #fault(error: unknown): void {
    this.#report({ code: HANDLER_FAULT, error });
    this.fail({ code: HANDLER_FAULT, message: messageOf(error) });
  }
}

const HANDLER_FAULT = 'ERR_HANDLER_FAULT';
