/** Preloaded into a process: writes the addresses of all modules that it loads to `LOADED_MODULES`. */
import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const loaded = new Set()
// On loading, because another hook may resolve them.
registerHooks({
  load(url, context, next) {
    loaded.add(url)
    return next(url, context)
  },
})
process.once('exit', () => writeFileSync(process.env.LOADED_MODULES, JSON.stringify([...loaded])))
