/** What other sections may use of this one. */

export { mailingList } from './mailing-list/connection.ts'
export * as unsubscribes from './subscribers/unsubscribes.ts'
