/** Recognizes known bots by their User-Agent. */

// `(?<!cu)`: Cubot is a phone brand.
const bots = new RegExp(
  [
    '(?<!cu)bot(?:\\b|[/_-])',
    'crawl',
    'spider',
    'slurp',
    'headless',
    'lighthouse',
    'pagespeed',
    'prerender',
    'phantomjs',
    'puppeteer',
    'playwright',
    'selenium',
    'facebookexternalhit',
    'mediapartners-google',
    'google-inspectiontool',
    'whatsapp/',
    'pingdom',
    'statuscake',
    'uptime',
    '^(?:curl|wget|python|java|go-http-client|okhttp|axios|node|libwww|php|ruby)\\b',
  ].join('|'),
  'i',
)

/** Whether a User-Agent is a known bot. */
export const isBot = (userAgent: string | null): boolean => userAgent !== null && bots.test(userAgent)
