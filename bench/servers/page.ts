/** One page of 100 tools as the default upstream contract has it: about 16 kB. */
export const PAGE = JSON.stringify({
  tools: Array.from({ length: 100 }, (_, index) => ({
    id: `tool-${index}`,
    name: `Tool number ${index}`,
    version: `1.${index}.0`,
    category: 'scanner',
    description: `Finds what it is made to find, the ${index}th of its kind, in hosts and code.`,
  })),
  nextPageToken: '',
});
