/** Character classes of RFC 9110 and 3986 as tables: 0 means the byte is not in the class. */

/** `token` (RFC 9110 section 5.6.2); `_` has the value 2, since some backends take it for `-`. */
export const TOKEN = new Uint8Array(256);
/** `field-value` with obs-text (RFC 9110 section 5.5): no control characters except HTAB. */
export const VALUE = new Uint8Array(256);
/**
 * Request target: visible ASCII. 2 marks `%`, 4 marks `.`: normalisation may be needed. 8 marks what no target holds:
 * a raw fragment (RFC 9112 section 3.2) and the backslash, which some backends take for `/`.
 */
export const TARGET = new Uint8Array(256);
/** `unreserved` (RFC 3986 section 2.3). */
export const UNRESERVED = new Uint8Array(256);
/** `reg-name` and port of an authority, without brackets. */
export const AUTHORITY = new Uint8Array(256);

const ALPHANUMERIC = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
for (const c of ALPHANUMERIC + "!#$%&'*+-.^_`|~") TOKEN[c.charCodeAt(0)] = 1;
TOKEN[0x5f] = 2;
for (let i = 0x20; i < 256; i++) if (i !== 0x7f) VALUE[i] = 1;
VALUE[0x09] = 1;
for (let i = 0x21; i < 0x7f; i++) TARGET[i] = 1;
TARGET[0x25] = 2;
TARGET[0x2e] = 4;
TARGET[0x23] = 8;
TARGET[0x5c] = 8;
for (const c of ALPHANUMERIC + '-._~') UNRESERVED[c.charCodeAt(0)] = 1;
for (const c of ALPHANUMERIC + "-._~!$&'()*+;=%") AUTHORITY[c.charCodeAt(0)] = 1;

/** Value of a hexadecimal digit, or -1. */
export const HEX = new Int8Array(256).fill(-1);
for (let i = 0; i < 10; i++) HEX[0x30 + i] = i;
for (let i = 0; i < 6; i++) {
  HEX[0x41 + i] = 10 + i;
  HEX[0x61 + i] = 10 + i;
}
