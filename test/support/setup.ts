/** Run by vitest before each test file. */
import { afterAll, afterEach, beforeEach } from 'vitest'
import { closeAll } from './closing.ts'
import { forgetClocks, putClocksBack } from './test-clock.ts'

// After each too: a `beforeAll` of the next `describe` finds it as a test does.
beforeEach(putClocksBack)
afterEach(putClocksBack)
afterAll(forgetClocks)
afterAll(closeAll)
