/** What other sections use of this one. */
export { registerUnsubscribes, type Unsubscribes } from './unsubscribes-port.ts'
