/**
 * Keeps what Node makes of the modules for the next start: half of what a start takes is reading and compiling them.
 * From here on: what was imported before is not in it, so that an entry imports the rest of its program after this, and
 * `npm start` this before its entry. It is no TypeScript, or Node would start its compiler to read it, and need not.
 *
 * Goes by `NODE_COMPILE_CACHE` where that is set. A folder that cannot be written, or a file in it that does not fit its
 * module, is passed over by Node; of several processes each writes whole files.
 */
import { join } from 'node:path'
import './node.js'
import './resolving.js'

// Imported by name it would end an older Node before that has been said.
process
  .getBuiltinModule('node:module')
  .enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/compile'))
