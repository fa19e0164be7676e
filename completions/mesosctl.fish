function __mesosctl_completion
    set --local line (commandline --cut-at-cursor --current-process | string collect)
    set --global __mesosctl_completion_words (env _MESOSCTL_COMPLETE=words_fish "_MESOSCTL_LINE=$line" mesosctl </dev/null 2>/dev/null)
    test (count $__mesosctl_completion_words) -gt 0
end

complete --command mesosctl --no-files --condition __mesosctl_completion --arguments '$__mesosctl_completion_words'
