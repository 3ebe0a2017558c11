/** Run by vitest before each test file. */
import fc from 'fast-check'
import { afterAll, afterEach, beforeEach, expect } from 'vitest'
import { closeAll } from './closing.ts'
import { isFullSuite, numberFrom, runs } from './suite.ts'
import { resetClocks, restoreClocks } from './test-clock.ts'

const seed = numberFrom('FC_SEED') ?? (isFullSuite ? undefined : 1)
const path = process.env.FC_PATH
fc.configureGlobal({ ...runs(100, 20), ...(seed === undefined ? {} : { seed }), ...(path ? { path } : {}) })

// Also after each test: a `beforeAll` of the next `describe` finds the same clock as a test.
beforeEach(restoreClocks)
afterEach(restoreClocks)
// No request may change Object.prototype.
afterEach(() => expect(Object.keys(Object.prototype)).toEqual([]))
afterAll(resetClocks)
afterAll(closeAll)
