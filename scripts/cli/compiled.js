/**
 * Enables Node's compile cache, since reading and compiling modules is half of a start. Modules that are imported
 * before this one are not cached, so `npm start` loads this file first and the entry imports the program dynamically.
 * It is JavaScript, because for a TypeScript file Node would load its compiler.
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
