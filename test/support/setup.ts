/** Run by vitest before each test file. */
import { afterAll, afterEach, beforeEach, expect } from 'vitest'
import { closeAll } from './closing.ts'
import { forgetClocks, putClocksBack } from './test-clock.ts'

// After each too: a `beforeAll` of the next `describe` finds it as a test does.
beforeEach(putClocksBack)
afterEach(putClocksBack)
// Whatever a test sent: what all objects share is nobody's to write.
afterEach(() => expect(Object.keys(Object.prototype)).toEqual([]))
afterAll(forgetClocks)
afterAll(closeAll)
