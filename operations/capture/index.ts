/** Public API of lead capture for other sections. */

export { mailingList } from './mailing-list/connection.ts'
export * as unsubscribes from './subscribers/unsubscribes.ts'
