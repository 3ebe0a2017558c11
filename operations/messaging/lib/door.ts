/** What other sections may use of this one. */
export * as sending from './sending.ts'
export * as templates from './templates.ts'
