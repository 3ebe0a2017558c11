/** Public API of the section. */
export type { Reviewer } from './conversations/reviews-port.ts'
