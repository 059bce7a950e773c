import {
  DEFAULT_WINDOW,
  FLOW_CONTROL_ERROR,
  MAX_FRAME_LENGTH,
  MAX_WINDOW,
  NO_ERROR,
  PROTOCOL_ERROR,
  SETTINGS_ENABLE_CONNECT_PROTOCOL,
  SETTINGS_ENABLE_PUSH,
  SETTINGS_HEADER_TABLE_SIZE,
  SETTINGS_INITIAL_WINDOW_SIZE,
  SETTINGS_MAX_CONCURRENT_STREAMS,
  SETTINGS_MAX_FRAME_SIZE,
} from './frame.js';

/** What a peer has told of itself (RFC 9113 §6.5.2, RFC 8441 §3). */
export class PeerSettings {
  headerTableSize = 4096;
  initialWindow = DEFAULT_WINDOW;
  /** Not more than we ever send. */
  maxFrame = MAX_FRAME_LENGTH;
  /** RFC 9113 leaves it unlimited until the peer says; 100 is what it recommends at least. */
  maxConcurrentStreams = 100;
  connectProtocol = false;

  /**
   * Applies one setting; unknown ones are ignored.
   * @param fromServer the peer is a server, which may not offer to be pushed to.
   * @returns an error code.
   */
  apply(id: number, value: number, fromServer: boolean): number {
    switch (id) {
      case SETTINGS_HEADER_TABLE_SIZE:
        this.headerTableSize = value;
        return NO_ERROR;
      case SETTINGS_ENABLE_PUSH:
        return value > 1 || (fromServer && value === 1) ? PROTOCOL_ERROR : NO_ERROR;
      case SETTINGS_MAX_CONCURRENT_STREAMS:
        this.maxConcurrentStreams = value;
        return NO_ERROR;
      case SETTINGS_INITIAL_WINDOW_SIZE:
        if (value > MAX_WINDOW) return FLOW_CONTROL_ERROR;
        this.initialWindow = value;
        return NO_ERROR;
      case SETTINGS_MAX_FRAME_SIZE:
        if (value < MAX_FRAME_LENGTH || value > 0xff_ffff) return PROTOCOL_ERROR;
        return NO_ERROR;
      case SETTINGS_ENABLE_CONNECT_PROTOCOL:
        // RFC 8441 §3: once enabled it stays.
        if (value > 1 || (this.connectProtocol && value === 0)) return PROTOCOL_ERROR;
        this.connectProtocol = value === 1;
        return NO_ERROR;
      default:
        return NO_ERROR;
    }
  }
}
