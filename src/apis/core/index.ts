export * from './config-map.js';
export * from './endpoint-slice.js';
export * from './namespace.js';
export * from './secret.js';
export * from './service.js';
