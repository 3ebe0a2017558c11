/** What other sections may use of this one. */
export * as optOuts from './opt-outs.ts'
