/** What other sections may use of this one. */
export * as unsubscribes from './subscribers/unsubscribes.ts'
