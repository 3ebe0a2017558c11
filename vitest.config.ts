import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import LongestFirst from './test/support/sequencer.ts'

// Hundreds of processes read the same thousand modules: compiled by the first, found by the others.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compile')

export default defineConfig(({ mode }) => {
  const isFull = mode === 'full'
  // Read by the test processes, see test/support/suite.ts.
  process.env.TEST_SUITE = isFull ? 'full' : 'fast'
  const named = process.argv.filter((each) => each.includes('.full.test'))
  if (!isFull && named.length > 0) {
    throw new Error(`${named.join(', ')}: run it by \`npm run test:full -- ${named.join(' ')}\``)
  }
  return {
    test: {
      globalSetup: ['test/support/global-setup.ts'],
      include: ['test/**/*.test.ts'],
      exclude: isFull ? configDefaults.exclude : [...configDefaults.exclude, '**/*.full.test.ts'],
      setupFiles: ['test/support/setup.ts'],
      // Tests in a browser or of processes mostly wait: three of them keep two processors busy.
      maxWorkers: isFull ? 3 : 2,
      sequence: { sequencer: LongestFirst },
      pool: 'forks',
      // One process loads the thousand modules once for all its files: each file has a database and a server of its own.
      isolate: false,
      // Node reads TypeScript by itself: tests import as the server does.
      experimental: { viteModuleRunner: false },
      // One patient limit for all: no test measures speed, and a busy machine takes ten times as long.
      testTimeout: 300_000,
      hookTimeout: 300_000,
      chaiConfig: { truncateThreshold: 2000 },
      // The default of one second would time tests on a busy machine.
      expect: { poll: { timeout: 60_000, interval: 20 } },
    },
  }
})
