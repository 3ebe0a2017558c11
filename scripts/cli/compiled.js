/**
 * Enables Node's compile cache for the next start: half of a start is reading and compiling modules. Modules imported
 * before this one are not cached, so an entry imports the rest of its program after it, and `npm start` loads it before
 * its entry. It is JavaScript, because Node would start its TypeScript compiler to read it.
 *
 * Respects `NODE_COMPILE_CACHE`. Node ignores a folder that cannot be written, and a cache file that does not match its
 * module; concurrent processes each write whole files.
 */
import { join } from 'node:path'
import './node.js'
import './resolving.js'

// A named import would crash an older Node before the version message.
process
  .getBuiltinModule('node:module')
  .enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/compile'))
