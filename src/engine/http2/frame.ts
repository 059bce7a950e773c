/** Numbers of RFC 9113 §6, §7 and §11. */
export const DATA = 0;
export const HEADERS = 1;
export const PRIORITY = 2;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const PUSH_PROMISE = 5;
export const PING = 6;
export const GOAWAY = 7;
export const WINDOW_UPDATE = 8;
export const CONTINUATION = 9;

export const FLAG_END_STREAM = 0x1;
export const FLAG_ACK = 0x1;
export const FLAG_END_HEADERS = 0x4;
export const FLAG_PADDED = 0x8;
export const FLAG_PRIORITY = 0x20;

export const NO_ERROR = 0;
export const PROTOCOL_ERROR = 1;
export const INTERNAL_ERROR = 2;
export const FLOW_CONTROL_ERROR = 3;
export const STREAM_CLOSED = 5;
export const FRAME_SIZE_ERROR = 6;
export const REFUSED_STREAM = 7;
export const CANCEL = 8;
export const COMPRESSION_ERROR = 9;
export const ENHANCE_YOUR_CALM = 11;

export const SETTINGS_HEADER_TABLE_SIZE = 1;
export const SETTINGS_ENABLE_PUSH = 2;
export const SETTINGS_MAX_CONCURRENT_STREAMS = 3;
export const SETTINGS_INITIAL_WINDOW_SIZE = 4;
export const SETTINGS_MAX_FRAME_SIZE = 5;
export const SETTINGS_MAX_HEADER_LIST_SIZE = 6;
/** RFC 8441 §3. */
export const SETTINGS_ENABLE_CONNECT_PROTOCOL = 8;

export const FRAME_HEADER_LENGTH = 9;
/** The largest payload we accept and the largest we send: the initial SETTINGS_MAX_FRAME_SIZE, never changed. */
export const MAX_FRAME_LENGTH = 16_384;
export const DEFAULT_WINDOW = 65_535;
export const MAX_WINDOW = 0x7fff_ffff;
