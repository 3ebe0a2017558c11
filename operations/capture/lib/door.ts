/** What other sections may use of this one. */
export * as unsubscribes from './unsubscribes.ts'
