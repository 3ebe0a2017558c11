/** Programs that look at shops without being shoppers, by how they call themselves. */

// Cubot makes phones.
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

/** Whether a User-Agent is one that is known to be no browser of a person. */
export const isBot = (userAgent: string | null): boolean => userAgent !== null && bots.test(userAgent)
