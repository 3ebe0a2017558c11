import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Files share a process, so that the 1,000 modules are read and warm once: a file's state is its database and app.
    isolate: false,
    // Node reads TypeScript by itself: tests import as the server does.
    experimental: { viteModuleRunner: false },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
