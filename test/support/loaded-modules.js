/** Before the program of a process: writes the addresses of all modules that it loads to `LOADED_MODULES`. */
import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const loaded = new Set()
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    loaded.add(found.url)
    return found
  },
})
process.once('exit', () => writeFileSync(process.env.LOADED_MODULES, JSON.stringify([...loaded])))
