import {
  CONTINUATION,
  FLAG_ACK,
  FRAME_SIZE_ERROR,
  GOAWAY,
  HEADERS,
  NO_ERROR,
  PING,
  PRIORITY,
  PROTOCOL_ERROR,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from './frame.js';

/** What a frame's header alone shows to be an error of the connection (RFC 9113 §6). @returns its code. */
export function formError(type: number, flags: number, id: number, length: number): number {
  switch (type) {
    case HEADERS:
    case CONTINUATION:
    case PRIORITY:
      return id === 0 ? PROTOCOL_ERROR : NO_ERROR;
    case RST_STREAM:
      if (length !== 4) return FRAME_SIZE_ERROR;
      return id === 0 ? PROTOCOL_ERROR : NO_ERROR;
    case WINDOW_UPDATE:
      return length === 4 ? NO_ERROR : FRAME_SIZE_ERROR;
    case SETTINGS:
      if (id !== 0) return PROTOCOL_ERROR;
      return (flags & FLAG_ACK ? length !== 0 : length % 6 !== 0) ? FRAME_SIZE_ERROR : NO_ERROR;
    case PING:
      if (id !== 0) return PROTOCOL_ERROR;
      return length === 8 ? NO_ERROR : FRAME_SIZE_ERROR;
    case GOAWAY:
      if (id !== 0) return PROTOCOL_ERROR;
      return length >= 8 ? NO_ERROR : FRAME_SIZE_ERROR;
    default:
      return NO_ERROR;
  }
}
