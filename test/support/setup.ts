/** Run by vitest before each test file. */
import fc from 'fast-check'
import { afterAll, afterEach, beforeEach, expect } from 'vitest'
import { closeAll } from './closing.ts'
import { isFullSuite, numberFrom, runs } from './suite.ts'
import { forgetClocks, putClocksBack } from './test-clock.ts'

const seed = numberFrom('FC_SEED') ?? (isFullSuite ? undefined : 1)
const path = process.env.FC_PATH
fc.configureGlobal({ ...runs(100, 20), ...(seed === undefined ? {} : { seed }), ...(path ? { path } : {}) })

// After each too: a `beforeAll` of the next `describe` finds it as a test does.
beforeEach(putClocksBack)
afterEach(putClocksBack)
// No request may change what all objects share.
afterEach(() => expect(Object.keys(Object.prototype)).toEqual([]))
afterAll(forgetClocks)
afterAll(closeAll)
