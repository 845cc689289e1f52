/** Which revisions of the protocol are spoken: those from 2026-07-28 on, or those before. */
export type Era = 'modern' | 'legacy';
