/** Run by vitest before each test file. */
import fc from 'fast-check'
import { afterAll, afterEach, beforeEach, expect } from 'vitest'
import { closeAll } from './closing.ts'
import { isFullSuite } from './suite.ts'
import { forgetClocks, putClocksBack } from './test-clock.ts'

const { FC_SEED = isFullSuite ? undefined : '1', FC_PATH: path } = process.env
fc.configureGlobal({ ...(FC_SEED ? { seed: Number(FC_SEED) } : {}), ...(path ? { path } : {}) })

// After each too: a `beforeAll` of the next `describe` finds it as a test does.
beforeEach(putClocksBack)
afterEach(putClocksBack)
// No request may change what all objects share.
afterEach(() => expect(Object.keys(Object.prototype)).toEqual([]))
afterAll(forgetClocks)
afterAll(closeAll)
