/** `wiring.ts` of a section: what it registers with other sections' doors, once, at start. */
export interface Wiring {
  readonly kind: 'wiring'
  start(): void
}
export const wiring = (start: () => void): Wiring => ({ kind: 'wiring', start })
