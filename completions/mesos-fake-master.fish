function __mesos_fake_master_completion
    set --local line (commandline --cut-at-cursor --current-process | string collect)
    set --global __mesos_fake_master_completion_words (env _MESOS_FAKE_MASTER_COMPLETE=words_fish "_MESOSCTL_LINE=$line" mesos-fake-master </dev/null 2>/dev/null)
    test (count $__mesos_fake_master_completion_words) -gt 0
end

complete --command mesos-fake-master --no-files --condition __mesos_fake_master_completion --arguments '$__mesos_fake_master_completion_words'
