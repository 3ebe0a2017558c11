/** The folder of the sections. */
import { join } from 'node:path'

export const operationsFolder = join(import.meta.dirname, '..', '..', 'operations')
