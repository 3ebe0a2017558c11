/** Where the sections are. */
import { join } from 'node:path'

export const operationsFolder = join(import.meta.dirname, '..', '..', 'operations')
