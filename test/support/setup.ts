/** Run by vitest before each test file. */
import { afterAll } from 'vitest'
import { closeAll } from './closing.ts'

afterAll(closeAll)
