/** What other sections may use of this one. */
export { check, isWindowOpen, type Objection } from './check.ts'
export { routeOfType } from './route.ts'
export * as sending from './sending.ts'
export * as templates from './templates.ts'
