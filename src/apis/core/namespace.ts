import { clusterScoped, type Described } from '../schema.js';

export const NamespaceSchema = clusterScoped('Namespace', 'v1', {}, ['spec', 'status']);
export type Namespace = Described<typeof NamespaceSchema>;
